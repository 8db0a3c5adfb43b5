"""Names of what photographs show: whether a photo shows a label at all is measured against these."""

_NAMES = """
    person, man, woman, child, baby, crowd of people, face, hand, wedding, sports team, dog, cat, horse, cow, sheep,
    pig, goat, deer, bear, lion, tiger, elephant, giraffe, zebra, monkey, rabbit, mouse, squirrel, fox, wolf,
    kangaroo, camel, bird, chicken, duck, owl, eagle, parrot, penguin, snake, lizard, turtle, frog, fish, shark,
    whale, crab, jellyfish, octopus, butterfly, bee, beetle, spider, snail, worm, dinosaur, flower, rose, tulip,
    grass, leaf, tree, palm tree, cactus, mushroom, moss, fern, vegetable, fruit, apple, banana, orange, grapes,
    strawberry, tomato, carrot, potato, corn, bread, cake, pizza, sandwich, hamburger, pasta, rice, soup, salad,
    meat, seafood, cheese, egg, ice cream, chocolate, candy, coffee, tea, juice, beer, wine, bottle, cup, glass,
    plate, bowl, fork, knife, spoon, pot, frying pan, teapot, refrigerator, oven, microwave, toaster, blender, sink,
    bathtub, toilet, shower, mirror, towel, toothbrush, soap, bed, pillow, blanket, curtain, carpet, sofa, chair,
    table, desk, shelf, cabinet, drawer, lamp, light bulb, candle, clock, vase, picture frame, painting, statue,
    toy, doll, teddy bear, ball, balloon, kite, puzzle, dice, playing cards, book, newspaper, magazine, map, letter,
    envelope, pen, pencil, scissors, tape, ruler, notebook, calendar, poster, sign, banknote, coin, jewellery, ring,
    necklace, watch, glasses, sunglasses, hat, helmet, mask, scarf, tie, shirt, dress, coat, trousers, shoe, boot,
    sock, glove, belt, bag, backpack, suitcase, umbrella, computer, keyboard, computer mouse, monitor, printer,
    telephone, camera, television, radio, loudspeaker, headphones, microphone, battery, cable, circuit board, robot,
    telescope, microscope, guitar, piano, violin, drum, trumpet, flute, hammer, screwdriver, saw, drill, axe, rope,
    ladder, bucket, broom, nail, wheel, engine, chain, lock, key, box, basket, barrel, bicycle, motorcycle, car,
    bus, truck, train, tram, tractor, ambulance, fire engine, boat, ship, sailing boat, canoe, submarine, aeroplane,
    helicopter, rocket, satellite, traffic light, road, street, bridge, tunnel, railway, station, airport, harbour,
    car park, fountain, bench, fence, wall, door, window, stairs, roof, chimney, house, hut, castle, church, mosque,
    temple, tower, skyscraper, barn, windmill, lighthouse, factory, power station, shop, market, restaurant,
    kitchen, bathroom, bedroom, living room, office, classroom, library, museum, theatre, stadium, gymnasium,
    swimming pool, hospital, laboratory, workshop, playground, park, garden, farm, field, meadow, forest, jungle,
    desert, beach, sea, wave, lake, river, waterfall, island, mountain, hill, valley, cliff, cave, rock, sand, mud,
    snow, ice, glacier, volcano, sky, clouds, rainbow, lightning, rain, fog, sunset, night, stars, moon, planet,
    fire, smoke, explosion, fireworks, shadow, reflection, city, village, skyline, aerial view, satellite image,
    cemetery, ruins, tent, camp, flag, medal, trophy, gun, sword, medicine, syringe, skeleton, x-ray image, medical
    scan, wood, metal, plastic, paper, fabric, leather, brick, stone, concrete, tile, water, texture, pattern,
    stripes, dots, text, handwriting, logo, symbol, diagram, chart, screenshot, drawing, sketch, cartoon, comic,
    blank image, blurred image, noise
"""

BACKGROUND_NAMES: tuple[str, ...] = tuple(" ".join(name.split()) for name in _NAMES.split(","))
"""Things, places, materials and kinds of pictures, chosen before anything was measured with them."""
